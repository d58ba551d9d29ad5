package io.ringfence.fencing.frameworks;

import org.apache.ibatis.annotations.Insert;
import org.apache.ibatis.annotations.Param;
import org.apache.ibatis.annotations.Select;
import org.apache.ibatis.annotations.Update;

/** A mapper of MyBatis. */
public interface MyBatisMapper {
    @Select("SELECT status FROM invoice WHERE id = #{id}")
    String status(@Param("id") int id);

    @Select("SELECT pg_sleep(60)::text")
    String sleep();

    @Insert("INSERT INTO invoice (id, status, cancels) VALUES (#{id}, #{status}, #{cancels,jdbcType=INTEGER})")
    void insert(@Param("id") int id, @Param("status") String status, @Param("cancels") Integer cancels);

    @Update("UPDATE invoice SET status = #{status} WHERE id = #{id}")
    void update(@Param("id") int id, @Param("status") String status);
}
